<?xml version="1.0"?>
<!-- Tables of data.xml with an index, sums by recursive templates and keys. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
	<xsl:output method="html" encoding="UTF-8"/>
	<xsl:param name="page" select="0"/>
	<xsl:key name="by-group" match="record" use="@group"/>

	<xsl:template match="/data">
		<html>
			<head><title><xsl:value-of select="concat('Page ', $page)"/></title></head>
			<body>
				<ul>
					<xsl:for-each select="record[generate-id() = generate-id(key('by-group', @group)[1])]">
						<xsl:sort select="@group" data-type="number" order="descending"/>
						<li>
							<xsl:value-of select="@group"/>:
							<xsl:value-of select="count(key('by-group', @group))"/>,
							<xsl:call-template name="total">
								<xsl:with-param name="records" select="key('by-group', @group)"/>
							</xsl:call-template>
						</li>
					</xsl:for-each>
				</ul>
				<table>
					<xsl:apply-templates select="record[@id mod 3 = $page]">
						<xsl:sort select="name"/>
					</xsl:apply-templates>
				</table>
			</body>
		</html>
	</xsl:template>

	<xsl:template match="record">
		<tr class="{translate(name, 'abc', 'xyz')}">
			<td><xsl:number level="any" format="i"/></td>
			<td><xsl:apply-templates select="name"/></td>
			<td><xsl:value-of select="format-number(price, '#,##0.00')"/></td>
			<td><xsl:apply-templates select="text"/></td>
		</tr>
	</xsl:template>

	<xsl:template match="text">
		<xsl:choose>
			<xsl:when test="contains(., 'ga')"><b><xsl:value-of select="substring-after(., 'ga')"/></b></xsl:when>
			<xsl:when test="string-length(.) &gt; 120"><i><xsl:value-of select="substring(., 1, 120)"/></i></xsl:when>
			<xsl:otherwise><xsl:value-of select="normalize-space(.)"/></xsl:otherwise>
		</xsl:choose>
	</xsl:template>

	<xsl:template name="total">
		<xsl:param name="records"/>
		<xsl:param name="sum" select="0"/>
		<xsl:choose>
			<xsl:when test="$records">
				<xsl:call-template name="total">
					<xsl:with-param name="records" select="$records[position() &gt; 1]"/>
					<xsl:with-param name="sum" select="$sum + $records[1]/price"/>
				</xsl:call-template>
			</xsl:when>
			<xsl:otherwise><xsl:value-of select="round($sum)"/></xsl:otherwise>
		</xsl:choose>
	</xsl:template>
</xsl:stylesheet>

<?xml version="1.0"?>
<!-- data.xml as pages: running heads, justified paragraphs, lists and a table with repeated heads. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform" xmlns:fo="http://www.w3.org/1999/XSL/Format">
	<xsl:template match="/data">
		<fo:root font-family="Times" font-size="10pt">
			<fo:layout-master-set>
				<fo:simple-page-master master-name="page" page-height="297mm" page-width="210mm" margin="20mm">
					<fo:region-body margin="12mm" column-count="2"/>
					<fo:region-before extent="10mm"/>
					<fo:region-after extent="10mm"/>
				</fo:simple-page-master>
			</fo:layout-master-set>
			<fo:page-sequence master-reference="page">
				<fo:static-content flow-name="xsl-region-before"><fo:block text-align="end">Records</fo:block></fo:static-content>
				<fo:static-content flow-name="xsl-region-after"><fo:block text-align="center"><fo:page-number/></fo:block></fo:static-content>
				<fo:flow flow-name="xsl-region-body">
					<xsl:apply-templates select="record[position() &lt;= 150]"/>
					<fo:table border="0.5pt solid black" table-layout="fixed" width="100%">
						<fo:table-column column-width="30%"/>
						<fo:table-column column-width="70%"/>
						<fo:table-header>
							<fo:table-row>
								<fo:table-cell><fo:block>name</fo:block></fo:table-cell>
								<fo:table-cell><fo:block>price</fo:block></fo:table-cell>
							</fo:table-row>
						</fo:table-header>
						<fo:table-body>
							<xsl:for-each select="record[position() &lt;= 300]">
								<fo:table-row keep-together.within-page="always">
									<fo:table-cell padding="1pt"><fo:block><xsl:value-of select="name"/></fo:block></fo:table-cell>
									<fo:table-cell padding="1pt"><fo:block text-align="end"><xsl:value-of select="price"/></fo:block></fo:table-cell>
								</fo:table-row>
							</xsl:for-each>
						</fo:table-body>
					</fo:table>
				</fo:flow>
			</fo:page-sequence>
		</fo:root>
	</xsl:template>

	<xsl:template match="record">
		<fo:block font-weight="bold" space-before="6pt" id="r{@id}" keep-with-next.within-page="always"><xsl:value-of select="name"/></fo:block>
		<fo:list-block provisional-distance-between-starts="12mm">
			<fo:list-item>
				<fo:list-item-label end-indent="label-end()"><fo:block><xsl:value-of select="@id"/></fo:block></fo:list-item-label>
				<fo:list-item-body start-indent="body-start()">
					<fo:block text-align="justify"><xsl:value-of select="text"/> See page <fo:page-number-citation ref-id="r1"/>.</fo:block>
				</fo:list-item-body>
			</fo:list-item>
		</fo:list-block>
	</xsl:template>
</xsl:stylesheet>

<%@ page contentType="text/html; charset=UTF-8" session="false" import="java.util.ArrayList,java.util.List" %>
<%!
	private static int weight(int n) {
		return n < 2 ? 1 : weight(n - 1) + weight(n - 2);
	}
%>
<%
	List<String> rows = new ArrayList<>();
	for (int i = 0; i < Integer.parseInt(request.getParameter("rows")); i++)
		rows.add("row " + i + " " + weight(i));
	rows.sort((a, b) -> b.compareTo(a));
	pageContext.setAttribute("rows", rows);
%>
<html><body><p>${param.client} asks for ${rows.size()} rows</p>
<% for (String row : rows) { %><li><%= row %></li><% } %>
</body></html>

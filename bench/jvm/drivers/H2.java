import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

/** The database, in memory: the statements of work.sql, and the rows of its queries. */
public final class H2 implements Work {
	private static void print(ResultSet rows, PrintStream out) throws Exception {
		int columns = rows.getMetaData().getColumnCount();

		while (rows.next()) {
			for (int i = 1; i <= columns; i++)
				out.print(rows.getString(i) + (i < columns ? "|" : "\n"));
		}
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:work"); Statement statement = connection.createStatement()) {
			for (String text : Files.readString(inputs.resolve("work.sql")).split(";\n"))
				if (statement.execute(text))
					print(statement.getResultSet(), out);
		}
	}
}

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.logging.Level;
import java.util.logging.Logger;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.core.StandardContext;
import org.apache.catalina.startup.Tomcat;

/** A server in the same process, on a free port; several clients ask for a servlet and a JSP page. */
public final class Server implements Work {
	private static final int CLIENTS = 4;
	private static final int REQUESTS = 250;
	/** Of the JDK's log manager: held, or the level that it is given would be forgotten. */
	private static final Logger LOGGER = Logger.getLogger("org.apache");

	/** Counts the words of its query. */
	public static final class Words extends HttpServlet {
		private static final long serialVersionUID = 1;

		@Override
		protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
			int sum = 0;

			for (String word : request.getParameter("text").split(" "))
				sum += word.length();
			response.setContentType("text/plain");
			response.getWriter().println("words " + request.getParameter("text").split(" ").length + " letters " + sum);
		}
	}

	private static String get(String url) throws IOException {
		HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();

		try (InputStream in = connection.getInputStream()) {
			return connection.getResponseCode() + new String(in.readAllBytes());
		}
	}

	private static String ask(String base, int client) throws Exception {
		StringBuilder all = new StringBuilder();

		for (int i = 0; i < REQUESTS; i++) {
			all.append(get(base + "/words?text=" + "word+".repeat(i % 17) + client));
			all.append(get(base + "/page.jsp?rows=" + i % 11 + "&client=" + client));
		}
		return Inputs.digest(all.toString().getBytes());
	}

	private static Tomcat start(Path inputs, Path scratch) throws Exception {
		Tomcat tomcat = new Tomcat();

		LOGGER.setLevel(Level.WARNING);
		tomcat.setBaseDir(scratch.toString());
		tomcat.setPort(0);
		tomcat.getConnector();
		StandardContext context = (StandardContext) tomcat.addWebapp("", inputs.resolve("webapp").toString());
		// These look into classes of the JDK, which does not let them.
		context.setClearReferencesObjectStreamClassCaches(false);
		context.setClearReferencesRmiTargets(false);
		context.setClearReferencesThreadLocals(false);
		context.setParentClassLoader(Server.class.getClassLoader());
		Tomcat.addServlet(context, "words", new Words());
		context.addServletMappingDecoded("/words", "words");
		tomcat.start();
		return tomcat;
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		Tomcat tomcat = start(inputs, scratch);
		String base = "http://127.0.0.1:" + tomcat.getConnector().getLocalPort();
		ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
		List<Future<String>> answers = new ArrayList<>();

		for (int i = 0; i < CLIENTS; i++) {
			int client = i;

			answers.add(clients.submit(() -> ask(base, client)));
		}
		for (Future<String> answer : answers)
			out.println("tomcat " + answer.get());
		clients.shutdown();
		tomcat.stop();
		tomcat.destroy();
	}
}

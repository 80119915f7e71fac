import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/** A full-text index of the sources, and searches in it. */
public final class Lucene implements Work {
	private static final String[] QUERIES = {"lock", "\"the specified element\"", "concurrent AND NOT queue", "iter*", "spliterator~1",
			"+null -throws", "[hash TO heap]", "(wait OR notify) AND thread", "comp?rator", "\"array list\"~5"};

	private static void index(Path inputs, Directory directory) throws Exception {
		// Merges by other threads would make the order of documents depend on time.
		IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setMergeScheduler(new SerialMergeScheduler());

		try (IndexWriter writer = new IndexWriter(directory, config)) {
			for (Path source : Inputs.sources(inputs)) {
				Document document = new Document();

				document.add(new StringField("path", inputs.relativize(source).toString(), Field.Store.YES));
				document.add(new TextField("contents", Files.readString(source), Field.Store.NO));
				writer.addDocument(document);
			}
			writer.forceMerge(1);
		}
	}

	@Override
	public void run(Path inputs, Path scratch, PrintStream out) throws Exception {
		try (Directory directory = FSDirectory.open(scratch)) {
			index(inputs, directory);
			try (DirectoryReader reader = DirectoryReader.open(directory)) {
				IndexSearcher searcher = new IndexSearcher(reader);

				for (String query : QUERIES)
					for (ScoreDoc found : searcher.search(new QueryParser("contents", new StandardAnalyzer()).parse(query), 5).scoreDocs)
						out.println(query + ' ' + searcher.doc(found.doc).get("path") + ' ' + found.score);
			}
		}
	}
}

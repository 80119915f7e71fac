package random;

/** Ways through the JDK that come back: what is called, with @ for the callback, and what that looks like. */
final class Callbacks {
	static final class Row {
		/** An expression of type int. */
		final String call;
		/** The callback's type, method and parameters, and how it returns. */
		final String type;
		final String method;
		final String parameters;
		final String result;
		/** Several threads, or one that is not known. */
		final boolean isLoose;
		/** Often throws, since the JDK catches that and calls on. */
		final boolean isFailing;

		Row(String call, String type, String method, String parameters, String result, boolean isLoose, boolean isFailing) {
			this.call = call;
			this.type = type;
			this.method = method;
			this.parameters = parameters;
			this.result = result;
			this.isLoose = isLoose;
			this.isFailing = isFailing;
		}
	}

	private static final String COMPARATOR = "java.util.Comparator<Integer>";
	private static final String FUNCTION = "java.util.function.Function<Integer, Integer>";

	private static Row compare(String call) {
		return new Row(call, COMPARATOR, "int compare", "Integer x, Integer y", "return Integer.compare(x, y);", false, false);
	}

	private static Row function(String call) {
		return new Row(call, FUNCTION, "Integer apply", "Integer x", "return x + 1;", false, false);
	}

	private static Row supplier(String call) {
		return new Row(call, "java.util.function.Supplier<Integer>", "Integer get", "", "return 3;", false, false);
	}

	private static Row each(String call) {
		return new Row(call, "java.util.function.IntUnaryOperator", "int applyAsInt", "int x", "return x + 1;", false, false);
	}

	private static Row consumer(String call) {
		return new Row(call, "java.util.function.Consumer<Integer>", "void accept", "Integer x", "return;", false, false);
	}

	private static Row merge(String call) {
		return new Row(call, "java.util.function.BinaryOperator<Integer>", "Integer apply", "Integer x, Integer y",
				"return x + y;", false, false);
	}

	private static Row loose(Row row) {
		return new Row(row.call, row.type, row.method, row.parameters, row.result, true, false);
	}

	private static Row failing(Row row) {
		return new Row(row.call, row.type, row.method, row.parameters, row.result, false, true);
	}

	/** Of no call that is known here, but one that catches. */
	static final Row FAILING = failing(supplier(""));

	static final Row[] ROWS = {
		compare("java.util.stream.Stream.of(3, 1, 2, 5, 4).sorted(@).findFirst().get()"),
		compare("new java.util.TreeMap<Integer, Integer>(@).merge(1, 2, Integer::sum)"),
		compare("java.util.Collections.max(java.util.List.of(4, 9, 2), @)"),
		compare("java.util.Arrays.binarySearch(new Integer[] {1, 2, 3, 4, 5}, 4, @)"),
		compare("new java.util.TreeSet<Integer>(@).addAll(java.util.List.of(3, 1, 2)) ? 1 : 0"),
		function("new java.util.HashMap<Integer, Integer>().computeIfAbsent(5, @)"),
		function("new java.util.concurrent.ConcurrentHashMap<Integer, Integer>().computeIfAbsent(5, @)"),
		function("new java.util.TreeMap<Integer, Integer>().computeIfAbsent(5, @)"),
		function("java.util.Optional.of(4).map(@).get()"),
		function("(int) java.util.stream.Stream.of(1, 2).map(@).filter(z -> z > 0).count()"),
		function("java.util.stream.Stream.of(1, 2, 1).collect(java.util.stream.Collectors.groupingBy(@)).size()"),
		function("java.util.function.Function.<Integer>identity().andThen(@).compose((Integer z) -> z + 1).apply(4)"),
		function("java.util.Comparator.comparing(@).thenComparing(java.util.Comparator.naturalOrder()).compare(1, 2)"),
		supplier("java.util.Objects.requireNonNullElseGet(null, @)"),
		supplier("ThreadLocal.withInitial(@).get()"),
		supplier("java.util.Optional.<Integer>empty().orElseGet(@)"),
		supplier("java.util.stream.Stream.generate(@).limit(2).reduce(0, Integer::sum)"),
		each("java.util.stream.IntStream.range(0, 3).map(@).sum()"),
		each("java.util.stream.IntStream.iterate(1, @).limit(3).sum()"),
		each("java.util.stream.IntStream.of(4, 2).mapToObj(z -> z).mapToInt(z -> z).map(@).max().getAsInt()"),
		merge("java.util.stream.Stream.of(1, 2, 3).reduce(0, @)"),
		merge("new java.util.HashMap<Integer, Integer>(java.util.Map.of(1, 2)).merge(1, 2, @)"),
		consumer("Calls.all(java.util.List.of(1, 2), @)"),
		consumer("Calls.all(new java.util.HashSet<>(java.util.Set.of(7)), @)"),
		consumer("Calls.all(new Counting(2), @)"),
		consumer("Calls.stream(java.util.List.of(1, 2), @)"),
		compare("Calls.sorted(@)"),
		compare("Calls.queue(@)"),
		function("Calls.privileged(@)"),
		function("Calls.replaced(@)"),
		failing(function("Calls.completed(@)")),
		failing(function("Calls.replaced(@)")),
		failing(supplier("Calls.closed(@)")),
		failing(supplier("Calls.released(@)")),
	};
	static final Row[] LOOSE = {
		loose(each("java.util.stream.IntStream.range(0, 40).parallel().map(@).sum()")),
		loose(function("(int) java.util.List.of(1, 2, 3, 4, 5, 6, 7, 8).parallelStream().map(@).count()")),
		loose(supplier("java.util.concurrent.CompletableFuture.supplyAsync(@).join()")),
	};

	private Callbacks() {
	}
}

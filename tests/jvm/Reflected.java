import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Prints what reflection finds of java.lang.Thread: all of it is the JDK's. */
public final class Reflected {
	private Reflected() {
	}

	public static void main(String[] args) {
		for (Class<?> type = Thread.currentThread().getClass(); type != null; type = type.getSuperclass()) {
			for (Field field : type.getDeclaredFields())
				System.out.println(field);
			for (Field field : type.getFields())
				System.out.println(field);
			for (Method method : type.getDeclaredMethods())
				System.out.println(method);
			for (Method method : type.getMethods())
				System.out.println(method);
		}
		for (String name : args)
			try {
				System.out.println(Thread.class.getField(name));
			} catch (NoSuchFieldException e) {
				System.out.println(e);
			}
	}
}

import dev.waymark.Waymark;

/** The virtual machine asks a security manager, which is the application's, wherever it resolves a name. */
public final class Resolving extends SecurityManager {
	static class Late {
	}

	@Override
	public void checkPermission(java.security.Permission permission) {
	}

	@Override
	public void checkPackageAccess(String name) {
		called();
	}

	static void called() {
		Waymark.event("asked", 1);
	}

	public static void main(String[] arguments) {
		Object object = arguments;

		System.setSecurityManager(new Resolving());
		Waymark.event("main", 1);
		if (object instanceof Late)
			called();
		Waymark.event("main", 1);
	}
}

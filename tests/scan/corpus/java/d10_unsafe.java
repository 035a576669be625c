import sun.misc.Unsafe;
class Memory {
	static void go(Unsafe u) { // FIND: java.native
		long at = u.allocateMemory(8); // FIND: java.native
		u.putLong(at, 7); // FIND: java.native
	}
}

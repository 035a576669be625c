import java.io.*;
class Read {
	static Object from(InputStream in) throws Exception {
		ObjectInputStream o = new ObjectInputStream(in); // FIND: java.deserialize
		return o.readObject(); // FIND: java.deserialize
	}
}

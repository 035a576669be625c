import java.util.Properties;
class Settings {
	static String get() {
		Properties p = new Properties();
		return p.getProperty("user.home") + System.getProperty("line.separator");
	}
}

import java.lang.annotation.*;

@Retention(RetentionPolicy.RUNTIME)
@interface Exec { String value() default "Runtime"; }

record Socket(int port) { }

class Proxy {
	@Exec("sh") Socket socket = new Socket(80);
	void invoke(String method) { System.out.println(method.getClass().getName() + socket); }
	public static void main(String[] a) { new Proxy().invoke("exec"); }
}

import javax.script.*;
class Script {
	static Object go(String text) throws Exception {
		ScriptEngineManager m = new ScriptEngineManager(); // FIND: java.dynamic-code
		ScriptEngine e = m.getEngineByName("js"); // FIND: java.dynamic-code
		return e.eval(text); // FIND: java.dynamic-code
	}
}

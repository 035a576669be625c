// Runtime.getRuntime().exec("rm") and Class.forName(x) stand here in a comment
/* new ProcessBuilder("ls").start(); System.loadLibrary("x") */
class Empty {
}

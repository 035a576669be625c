class Work implements Runnable {
	public void run() {
		System.out.println("working");
	}
	public static void main(String[] words) throws Exception {
		Thread t = new Thread(new Work());
		t.start();
		t.join();
	}
}

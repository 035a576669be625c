struct Button {
	void connect(void (*f)()) { f(); }
	void listen() {}
	void send() {}
};
void clicked() {}
int main()
{
	Button b;
	b.connect(clicked);
	b.listen();
	b.send();
}

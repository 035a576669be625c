namespace game {
int system(int n) { return n; }
int fork(int n) { return n; }
}
int main() { return game::system(3) + game::fork(4); }

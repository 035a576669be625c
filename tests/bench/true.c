/* The program that every contender runs: static, and nothing in it, so that what is left to
 * measure is the sandbox.
 */
int main(void)
{
	return 0;
}

static const short sines[] = {0, 804, 1608, 2410, 3212, 4011, 4808, 5602, 6393, 7179, 7962};
short sine(unsigned i)
{
	return sines[i % 11];
}

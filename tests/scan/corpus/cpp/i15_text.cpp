#include <string>
std::string licence()
{
	return "Permission is hereby granted to whoever reads this, without a charge, to do with it what they like, as long as "
	       "they say where they have it from. There is no warranty of any kind, and no one is liable for anything at all.";
}

import java.util.*;
import java.util.stream.Collectors;
class Sum {
	static List<Integer> squares(List<Integer> n) {
		return n.stream().map(x -> x * x).filter(x -> x > 3).collect(Collectors.toList());
	}
}

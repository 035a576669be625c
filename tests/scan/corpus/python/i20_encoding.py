# -*- coding: utf-8 -*-
# the coding: style of this project
naïve = "größe"
π = 3.14
print(naïve, π)

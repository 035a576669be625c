#!/usr/bin/python3
# -*- coding: utf-7 -*-  # FIND: python.encoding scan.disguised
+AG8-s = 1

#!/bin/sh
echo "demo: not built yet"

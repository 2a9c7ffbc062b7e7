#!/bin/sh
# cluster.sh BUILD COMMAND...: a standalone master and two worker processes of one core each on this machine, COMMAND with
# MASTER in its environment, and their end.
set -eu
build=$1
shift
python="$build/test-venv/bin/python"
SPARK_HOME=$("$python" -c 'import pyspark, os; print(os.path.dirname(pyspark.__file__))')
export SPARK_HOME
place=$(mktemp -d)
trap 'kill $pids 2>/dev/null; rm -rf "$place"' EXIT
port=${PORT:-17077}
"$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.master.Master --host 127.0.0.1 --port "$port" --webui-port 0 >"$place/master" 2>&1 &
pids=$!
for worker in 1 2; do
    "$SPARK_HOME/bin/spark-class" org.apache.spark.deploy.worker.Worker --cores 1 --memory 3g --webui-port 0 --host 127.0.0.1 \
        --work-dir "$place/worker$worker" "spark://127.0.0.1:$port" >"$place/log$worker" 2>&1 &
    pids="$pids $!"
done
sleep 8
MASTER="spark://127.0.0.1:$port" "$@"

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.RpcTimeout;
import org.apache.spark.util.RpcUtils;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag$;

/** Queries the driver through Spark's RPC. Used by the {@link DirectoryClient}'s one thread. */
final class RpcDriverCall implements DriverCall {
  private final SparkConf conf;
  private final RpcEnv rpcEnv;
  private final RpcTimeout timeout;
  private RpcEndpointRef driver;

  RpcDriverCall(SparkConf conf, RpcEnv rpcEnv, Duration timeout) {
    this.conf = conf;
    this.rpcEnv = rpcEnv;
    this.timeout =
        new RpcTimeout(
            new FiniteDuration(timeout.toMillis(), TimeUnit.MILLISECONDS),
            "spark.shuffle.rdma.connect.timeout");
  }

  @Override
  public Object ask(Object message) {
    if (driver == null) {
      driver = RpcUtils.makeDriverRef(DirectoryName.of(conf), conf, rpcEnv);
    }
    return driver.askSync(message, timeout, ClassTag$.MODULE$.apply(Object.class));
  }
}

/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
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

/** Asks by Spark's RPC. Used by the {@link DirectoryClient}'s one thread. */
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

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import org.apache.spark.util.RpcUtils;
import org.sparkrdma.shuffle.directory.DirectoryName;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/** Replaces the driver's directory and never answers. Counts requests on Spark's dispatcher. */
public final class MuteDirectory {
  private final AtomicInteger asked = new AtomicInteger();
  private volatile long firstMs;

  private MuteDirectory() {}

  /** Called on the driver, after executors have started. */
  public static MuteDirectory replace(SparkEnv env) {
    RpcEnv rpcEnv = env.rpcEnv();
    MuteDirectory mute = new MuteDirectory();
    String name = env.conf().get(DirectoryName.KEY);
    rpcEnv.stop(RpcUtils.makeDriverRef(name, env.conf(), rpcEnv));
    rpcEnv.setupEndpoint(name, new DirectoryEndpoint(rpcEnv, mute));
    return mute;
  }

  /** Number of unanswered requests. */
  public int asked() {
    return asked.get();
  }

  /** Time of the first request, as {@link System#currentTimeMillis}. */
  public long firstMs() {
    return firstMs;
  }

  private void onRequest() {
    if (asked.getAndIncrement() == 0) {
      firstMs = System.currentTimeMillis();
    }
  }

  private record DirectoryEndpoint(RpcEnv rpcEnv, MuteDirectory mute)
      implements ThreadSafeRpcEndpoint {
    @Override
    public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
      return new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Object message) {
          return true;
        }

        @Override
        public <A, B> B applyOrElse(A message, scala.Function1<A, B> otherwise) {
          mute.onRequest();
          return null;
        }
      };
    }
  }
}

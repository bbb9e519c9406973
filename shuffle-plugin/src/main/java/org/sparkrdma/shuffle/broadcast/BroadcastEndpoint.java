// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.broadcast;

import java.util.function.BiConsumer;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import scala.Function1;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * An RPC endpoint that hands messages on. Called on Spark's dispatcher, one message at a time.
 *
 * @param receiver of each message, and of the call to reply to, null for a message without a reply;
 *     must not block
 */
record BroadcastEndpoint(RpcEnv rpcEnv, BiConsumer<Object, RpcCallContext> receiver)
    implements ThreadSafeRpcEndpoint {

  @Override
  public PartialFunction<Object, BoxedUnit> receive() {
    return handler(null);
  }

  @Override
  public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext call) {
    return handler(call);
  }

  private PartialFunction<Object, BoxedUnit> handler(RpcCallContext call) {
    return new AbstractPartialFunction<>() {
      @Override
      public boolean isDefinedAt(Object message) {
        return true;
      }

      @Override
      public <A, B> B applyOrElse(A message, Function1<A, B> otherwise) {
        try {
          receiver.accept(message, call);
        } catch (Exception | AssertionError | LinkageError e) {
          Broadcasts.warn(e);
          if (call != null) {
            call.sendFailure(e);
          }
        }
        return null;
      }
    };
  }
}

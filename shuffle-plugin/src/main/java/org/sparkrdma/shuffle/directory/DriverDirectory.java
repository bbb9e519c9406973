// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.directory;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.apache.spark.SparkConf;
import org.apache.spark.rpc.RpcCallContext;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcEnv;
import org.apache.spark.rpc.ThreadSafeRpcEndpoint;
import org.sparkrdma.shuffle.links.MissingLinks;
import scala.PartialFunction;
import scala.runtime.AbstractPartialFunction;
import scala.runtime.BoxedUnit;

/**
 * The driver's side of the directory: an RPC endpoint for publishing and look-ups.
 *
 * <p>Opened and closed by {@code DriverSide}. Safe for any thread.
 */
public final class DriverDirectory implements AutoCloseable {
  private final RpcEnv rpcEnv;
  private final DirectoryService service;
  private final RpcEndpointRef ref;

  /**
   * Opens the endpoint under its {@link DirectoryName}.
   *
   * @param timeout of a look-up
   * @param consequence for users when an executor does not use RDMA
   * @param reports receives the values that an executor reports, by its id, on Spark's dispatcher;
   *     must not block; returns whether they are taken, else the executor sends them again
   * @param missing takes errors about methods and fields that Spark lacks
   */
  public DriverDirectory(
      SparkConf conf,
      RpcEnv rpcEnv,
      Duration timeout,
      String consequence,
      BiPredicate<String, Map<String, Object>> reports,
      MissingLinks missing) {
    this.rpcEnv = rpcEnv;
    this.service = new DirectoryService(consequence, reports);
    LookUps lookUps = new LookUps(timeout, System::nanoTime);
    this.ref =
        rpcEnv.setupEndpoint(
            DirectoryName.of(conf), new DirectoryRpcEndpoint(rpcEnv, service, lookUps, missing));
  }

  /** Same as {@link DirectoryService#executors}. */
  public List<String> executors() {
    return service.executors();
  }

  /** Same as {@link DirectoryService#remove}. */
  public void remove(String executorId) {
    service.remove(executorId);
  }

  /** Same as {@link DirectoryService#knows}. */
  public boolean knows(String executorId) {
    return service.knows(executorId);
  }

  @Override
  public void close() {
    rpcEnv.stop(ref);
  }

  /** The RPC endpoint; called on Spark's dispatcher, one message at a time. */
  private record DirectoryRpcEndpoint(
      RpcEnv rpcEnv, DirectoryService service, LookUps lookUps, MissingLinks missing)
      implements ThreadSafeRpcEndpoint {
    /** Also at the end of Spark's environment, when nothing closes the directory. */
    @Override
    public void onStop() {
      lookUps.close();
    }

    @Override
    public PartialFunction<Object, BoxedUnit> receiveAndReply(RpcCallContext context) {
      return new AbstractPartialFunction<>() {
        @Override
        public boolean isDefinedAt(Object message) {
          return true;
        }

        @Override
        public <A, B> B applyOrElse(A message, scala.Function1<A, B> otherwise) {
          if (DirectoryService.isLookUp(message)) {
            lookUps.add(() -> answer(message, context));
          } else {
            answer(message, context);
          }
          return null;
        }
      };
    }

    private void answer(Object message, RpcCallContext context) {
      try {
        if (missing.any()) {
          service.end();
        }
        context.reply(service.answer(message));
      } catch (IllegalArgumentException | LinkageError e) {
        // An error would end the dispatcher's thread, and the executor would wait.
        if (e instanceof LinkageError error) {
          missing.take(error);
        }
        context.sendFailure(e);
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import org.apache.spark.SparkEnv;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.storage.BlockManager;

/** Access to an executor whose shuffle manager is another one than the plug-in's. Stateless. */
public final class OtherManager {
  private OtherManager() {}

  /**
   * Sets the client through which readers of an executor fetch. Spark has no method for it, so this
   * writes a private final field; Java 26 announces that later versions will refuse this.
   *
   * @throws ReflectiveOperationException when the field is not written
   * @throws LinkageError when it has another name or type
   */
  public static void setClient(BlockManager executor, BlockStoreClient client)
      throws ReflectiveOperationException {
    Field field = Reflected.CLIENT.field(BlockManager.class);
    field.set(executor, client);
    if (executor.blockStoreClient() != client) {
      throw new IllegalAccessException("the field has kept its value: " + field);
    }
  }

  /**
   * The shuffle manager of a process, by the name that Spark has for it; null on Spark 4 before it
   * is created.
   *
   * @throws LinkageError when there is no such method
   */
  public static ShuffleManager of(SparkEnv env) {
    return managerOf(env);
  }

  static ShuffleManager managerOf(Object env) {
    try {
      return (ShuffleManager) Reflected.MANAGER.method(env.getClass()).invoke(env);
    } catch (ReflectiveOperationException e) {
      throw (LinkageError) new NoSuchMethodError("SparkEnv.shuffleManager").initCause(e);
    }
  }

  /**
   * The resolver of map outputs in Spark's own files: that of the manager, or one that it wraps as
   * RAPIDS does.
   *
   * @throws ReflectiveOperationException when there is none
   */
  public static IndexShuffleBlockResolver resolver(ShuffleManager manager)
      throws ReflectiveOperationException {
    Object own = get(manager, "shuffleBlockResolver");
    Object files = own instanceof IndexShuffleBlockResolver ? own : get(own, "wrapped");
    if (files instanceof IndexShuffleBlockResolver found) {
      return found;
    }
    throw new NoSuchMethodException("its map outputs are not in Spark's files");
  }

  /** By a method of any manager, whose class may not be public; so it is not of Reflected. */
  private static Object get(Object of, String name) throws ReflectiveOperationException {
    Method method = of.getClass().getMethod(name);
    method.setAccessible(true);
    return method.invoke(of);
  }
}

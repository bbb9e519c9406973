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
  /** Of Spark up to 4.2, and two that the source of later versions has had. */
  private static final String[] MANAGERS = {
    "shuffleManager", "blockingShuffleManager", "defaultShuffleManager"
  };

  private OtherManager() {}

  /**
   * Sets the client through which readers of an executor fetch. Spark has no method for it, so this
   * writes a private final field; Java 26 announces that later versions will refuse this.
   *
   * @throws ReflectiveOperationException when the field has another name or type, or is not written
   */
  public static void setClient(BlockManager executor, BlockStoreClient client)
      throws ReflectiveOperationException {
    Field field = BlockManager.class.getDeclaredField("blockStoreClient");
    if (field.getType() != BlockStoreClient.class) {
      throw new NoSuchFieldException("of another type: " + field);
    }
    field.setAccessible(true);
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
      return (ShuffleManager) method(env.getClass(), MANAGERS).invoke(env);
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
    Object own = method(manager.getClass(), "shuffleBlockResolver").invoke(manager);
    Object files =
        own instanceof IndexShuffleBlockResolver
            ? own
            : method(own.getClass(), "wrapped").invoke(own);
    if (files instanceof IndexShuffleBlockResolver found) {
      return found;
    }
    throw new NoSuchMethodException("its map outputs are not in Spark's files");
  }

  /** The first of these methods that a class has; it may be that of a class that is not public. */
  private static Method method(Class<?> type, String... names) throws NoSuchMethodException {
    for (String name : names) {
      for (Method method : type.getMethods()) {
        if (method.getName().equals(name) && method.getParameterCount() == 0) {
          method.setAccessible(true);
          return method;
        }
      }
    }
    throw new NoSuchMethodException(type.getName() + "." + names[0]);
  }
}

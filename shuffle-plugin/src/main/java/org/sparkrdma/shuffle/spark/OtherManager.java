// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.spark;

import java.lang.reflect.Field;
import org.apache.spark.network.shuffle.BlockStoreClient;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleBlockResolver;
import org.apache.spark.shuffle.ShuffleManager;
import org.apache.spark.storage.BlockManager;

/** Access to an executor whose shuffle manager is another one than the plug-in's. Stateless. */
public final class OtherManager {
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
   * The resolver of map outputs in Spark's own files: that of the manager, or one that it wraps as
   * RAPIDS does.
   *
   * @throws ReflectiveOperationException when there is none
   */
  public static IndexShuffleBlockResolver resolver(ShuffleManager manager)
      throws ReflectiveOperationException {
    ShuffleBlockResolver own = manager.shuffleBlockResolver();
    Object files =
        own instanceof IndexShuffleBlockResolver
            ? own
            : own.getClass().getMethod("wrapped").invoke(own);
    if (files instanceof IndexShuffleBlockResolver found) {
      return found;
    }
    throw new NoSuchMethodException("its map outputs are not in Spark's files");
  }
}

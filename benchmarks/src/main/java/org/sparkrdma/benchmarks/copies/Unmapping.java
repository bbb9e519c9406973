// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.benchmarks.copies;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;

/**
 * Unmaps a buffer at once. On Java 17 only {@code sun.misc.Unsafe} can, which later versions warn
 * of; a product could not use it. Stateless.
 */
final class Unmapping {
  private static final MethodHandle CLEANER = cleaner();

  private Unmapping() {}

  /** The buffer must not be used afterwards: an access would end the JVM. */
  static void unmap(MappedByteBuffer buffer) {
    try {
      CLEANER.invoke(buffer);
    } catch (Throwable e) {
      throw new IllegalStateException("cannot unmap", e);
    }
  }

  private static MethodHandle cleaner() {
    try {
      Class<?> unsafe = Class.forName("sun.misc.Unsafe");
      Field instance = unsafe.getDeclaredField("theUnsafe");
      instance.setAccessible(true);
      return MethodHandles.lookup()
          .findVirtual(unsafe, "invokeCleaner", MethodType.methodType(void.class, ByteBuffer.class))
          .bindTo(instance.get(null));
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("this JVM cannot unmap at once", e);
    }
  }
}

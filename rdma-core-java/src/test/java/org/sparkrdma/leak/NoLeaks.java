// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.leak;

import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * Fails a test that leaks objects, threads or descriptors, and a class whose tests leak mappings.
 * JUnit applies it to every test, through the service loader.
 */
public final class NoLeaks
    implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
  private static final Namespace NAMESPACE = Namespace.create(NoLeaks.class);

  @Override
  public void beforeAll(ExtensionContext context) {
    begin(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    begin(context);
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionException().isEmpty()) {
      // A failed test may leak because of its failure, and a second error would hide that failure.
      snapshot(context).check();
    }
  }

  @Override
  public void afterAll(ExtensionContext context) {
    if (context.getExecutionException().isEmpty()) {
      snapshot(context).checkMappings();
    }
  }

  private static void begin(ExtensionContext context) {
    context.getStore(NAMESPACE).put(context.getUniqueId(), Leaks.snapshot());
  }

  private static Leaks snapshot(ExtensionContext context) {
    return context.getStore(NAMESPACE).get(context.getUniqueId(), Leaks.class);
  }
}

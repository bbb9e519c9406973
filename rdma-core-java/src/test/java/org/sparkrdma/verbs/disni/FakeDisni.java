// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Takes the place of libdisni while it is installed: creates DiSNI's objects without native ones,
 * records the calls that create, free and destroy them, and lets calls fail. Confined to the test's
 * thread, and to a watcher that waits for events, which are none.
 */
final class FakeDisni extends RdmaProvider implements AutoCloseable {
  /** Calls since the start or the last {@link #clear}. */
  private final List<String> calls = new CopyOnWriteArrayList<>();

  private final FakeCm cm = new FakeCm(this);
  private final FakeVerbs verbs = new FakeVerbs(this);
  private final List<String> failing = new ArrayList<>();
  private boolean openFails;

  /** DiSNI keeps its one provider in a private field, and creates the native one only when null. */
  static FakeDisni install() throws ReflectiveOperationException {
    var fake = new FakeDisni();
    providerField().set(null, fake);
    return fake;
  }

  private static Field providerField() throws ReflectiveOperationException {
    Field provider = RdmaProvider.class.getDeclaredField("provider");
    provider.setAccessible(true);
    return provider;
  }

  /** The next use of each of these calls fails. */
  void fail(String... names) {
    failing.addAll(List.of(names));
  }

  void clear() {
    calls.clear();
  }

  List<String> calls() {
    return calls;
  }

  void onCall(String call) throws IOException {
    calls.add(call);
    if (failing.remove(call)) {
      throw new IOException("cannot " + call);
    }
  }

  /** DiSNI's Java object of an event channel opens the connection manager again. */
  void onCreatedEventChannel() {
    openFails = failing.contains("wrap event channel");
  }

  @Override
  public RdmaCm openCm() throws IOException {
    if (openFails) {
      openFails = false;
      onCall("wrap event channel");
    }
    return cm;
  }

  @Override
  public RdmaVerbs openVerbs() {
    return verbs;
  }

  @Override
  public int getVersion() {
    return 0;
  }

  @Override
  public void close() throws ReflectiveOperationException {
    providerField().set(null, null);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchRequest;

/** Keeps requests for the test to answer. */
final class FakeTransport implements BlockTransport {
  final List<FetchRequest> requests = new ArrayList<>();

  /** Called with each request. */
  Consumer<FetchRequest> fetched = request -> {};

  /** Calls that follow a fetch. */
  final List<String> informed = new ArrayList<>();

  @Override
  public synchronized void fetch(FetchRequest request) {
    requests.add(request);
    fetched.accept(request);
  }

  @Override
  public void onSettled(FetchRequest request) {
    informed.add("settled");
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    informed.add("corrupt");
  }
}

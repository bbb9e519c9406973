// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.read;

import java.util.ArrayList;
import java.util.List;
import org.sparkrdma.shuffle.fetch.BlockTransport;
import org.sparkrdma.shuffle.fetch.FetchRequest;

/** Keeps requests for the test to answer. */
final class FakeTransport implements BlockTransport {
  final List<FetchRequest> requests = new ArrayList<>();
  final List<FetchRequest> settled = new ArrayList<>();
  final List<FetchRequest> corrupt = new ArrayList<>();

  @Override
  public synchronized void fetch(FetchRequest request) {
    requests.add(request);
  }

  @Override
  public void onSettled(FetchRequest request) {
    settled.add(request);
  }

  @Override
  public void onCorruptData(FetchRequest request) {
    corrupt.add(request);
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.sparkrdma.shuffle.wire.Located;

/** A LOCATE whose answer is a future. */
final class FutureCall extends TestLocateCall {
  private final CompletableFuture<Located.Decoder> future = new CompletableFuture<>();

  FutureCall(long peer, ByteBuffer request, ByteBuffer answer) {
    super(peer, request, answer);
  }

  CompletableFuture<Located.Decoder> future() {
    return future;
  }

  @Override
  public void answered(int lengthBytes) {
    future.complete(new Located.Decoder().begin(answer().slice(0, lengthBytes)));
  }

  @Override
  public void malformed(String reason) {
    future.completeExceptionally(new IllegalStateException(reason));
  }
}

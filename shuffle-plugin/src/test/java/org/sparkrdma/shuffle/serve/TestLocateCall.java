// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.serve;

import java.nio.ByteBuffer;

/** A LOCATE of a peer whose connection stays open; what ends it is up to the test. */
abstract class TestLocateCall implements LocateCall {
  private final long peer;
  private final ByteBuffer request;
  private final ByteBuffer answer;

  TestLocateCall(long peer, ByteBuffer request, ByteBuffer answer) {
    this.peer = peer;
    this.request = request;
    this.answer = answer;
  }

  @Override
  public final long peer() {
    return peer;
  }

  @Override
  public boolean isClosed() {
    return false;
  }

  @Override
  public final ByteBuffer request() {
    return request;
  }

  @Override
  public final ByteBuffer answer() {
    return answer;
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.link;

import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.sparkrdma.shuffle.serve.BlockServer;
import org.sparkrdma.shuffle.serve.LocateCall;

/**
 * A {@link BlockServer} with threads of its own behind {@link LocateServer}: it copies requests and
 * answers, because the server uses their buffers beyond the end of a connection.
 */
final class ThreadedServer implements LocateServer {
  private final BlockServer server;
  private final Runnable wakeup;
  private final ConcurrentLinkedQueue<Runnable> answers = new ConcurrentLinkedQueue<>();

  /**
   * @param wakeup wakes the agent, which then calls {@link #doWork}
   */
  ThreadedServer(BlockServer server, Runnable wakeup) {
    this.server = server;
    this.wakeup = wakeup;
  }

  @Override
  public void locate(LocateCall call, long nowNs) {
    ByteBuffer request = copy(call.request());
    ByteBuffer answer = ByteBuffer.allocate(call.answer().capacity());
    server.locateSoon(new CopiedCall(call, request, answer), nowNs);
  }

  private static ByteBuffer copy(ByteBuffer message) {
    return ByteBuffer.allocate(message.remaining()).put(message.duplicate()).flip();
  }

  @Override
  public void release(long peer, long leaseId) {
    server.releaseSoon(peer, new long[] {leaseId}, () -> {});
  }

  @Override
  public void onPeerGone(long peer) {
    server.onPeerGone(peer);
  }

  @Override
  public int doWork(long nowNs) {
    int work = 0;
    Runnable answer = answers.poll();
    while (answer != null) {
      answer.run();
      work++;
      answer = answers.poll();
    }
    return work;
  }

  @Override
  public long nextDeadlineNs(long nowNs) {
    return nowNs + Long.MAX_VALUE / 2;
  }

  private final class CopiedCall implements LocateCall {
    private final LocateCall call;
    private final ByteBuffer request;
    private final ByteBuffer answer;

    CopiedCall(LocateCall call, ByteBuffer request, ByteBuffer answer) {
      this.call = call;
      this.request = request;
      this.answer = answer;
    }

    @Override
    public long peer() {
      return call.peer();
    }

    @Override
    public boolean isClosed() {
      return call.isClosed();
    }

    @Override
    public ByteBuffer request() {
      return request;
    }

    @Override
    public ByteBuffer answer() {
      return answer;
    }

    @Override
    public void answered(int lengthBytes) {
      answers.add(
          () -> {
            if (!call.isClosed()) {
              call.answer().put(0, answer, 0, lengthBytes);
              call.answered(lengthBytes);
            }
          });
      wakeup.run();
    }

    @Override
    public void malformed(String reason) {
      answers.add(() -> call.malformed(reason));
      wakeup.run();
    }
  }
}

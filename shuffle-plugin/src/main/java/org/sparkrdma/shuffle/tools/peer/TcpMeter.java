// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.peer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.ByteBuffer;

/** One TCP connection to a {@link TcpSource}. Confined to one thread; its creator closes it. */
final class TcpMeter extends Meter {
  private final Socket socket;
  private final InputStream input;
  private final OutputStream output;
  private final byte[] request = new byte[Integer.BYTES];
  private final byte[] content = new byte[SharedRegion.BYTES];

  /**
   * @param socket connected; its announcement is read; its time limit of reads holds
   */
  TcpMeter(Socket socket) throws IOException {
    this.socket = socket;
    this.input = socket.getInputStream();
    this.output = socket.getOutputStream();
  }

  @Override
  void begin(long number, int lengthBytes) throws IOException {
    ask(lengthBytes);
  }

  @Override
  void finish(int lengthBytes) throws IOException {
    receive(lengthBytes);
  }

  /** Each transfer overwrites the one before. */
  @Override
  void verify(long transfers, int lengthBytes) throws IOException {
    int wrong = SharedRegion.firstWrong(ByteBuffer.wrap(content, 0, lengthBytes));
    if (wrong >= 0) {
      throw new IOException("wrong byte: offset=" + wrong);
    }
  }

  /** CPU time that the process at the other end has used, in nanoseconds. */
  long peerCpuNs() throws IOException {
    ask(TcpSource.CPU_TIME);
    receive(Long.BYTES);
    return ByteBuffer.wrap(content).getLong();
  }

  private void ask(int lengthBytes) throws IOException {
    ByteBuffer.wrap(request).putInt(lengthBytes);
    output.write(request);
  }

  private void receive(int lengthBytes) throws IOException {
    if (input.readNBytes(content, 0, lengthBytes) < lengthBytes) {
      throw new EOFException("has ended during the measurement");
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

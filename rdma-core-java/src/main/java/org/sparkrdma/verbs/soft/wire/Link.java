// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.soft.wire;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket to a peer and the frames on it, see {@link FrameHeader}. Confined to the device thread.
 *
 * <p>Buffers have a fixed size: a frame longer than them passes in pieces.
 */
public final class Link implements SelectionHandler {

  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  private static final int BUFFER_BYTES = 1 << 16;
  private static final int READS_IN_A_ROW = 16;

  private final SocketChannel channel;
  private final FrameHandler handler;
  private final ByteBuffer in = buffer();
  private final ByteBuffer out = buffer();
  private final FrameParser parser;
  private final SelectionKey key;
  private boolean closed;

  /** Takes over a channel in non-blocking mode, connected or connecting. */
  public Link(Selector selector, SocketChannel channel, FrameHandler handler) throws IOException {
    this.channel = channel;
    this.handler = handler;
    parser = new FrameParser(handler);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    key = channel.register(selector, interest(), this);
  }

  /** 0 for a socket that is not connecting. */
  private int interest() {
    if (channel.isConnected()) {
      return SelectionKey.OP_READ;
    }
    return channel.isConnectionPending() ? SelectionKey.OP_CONNECT : 0;
  }

  private static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  public InetSocketAddress localAddress() throws IOException {
    return (InetSocketAddress) channel.getLocalAddress();
  }

  public InetSocketAddress remoteAddress() throws IOException {
    return (InetSocketAddress) channel.getRemoteAddress();
  }

  /** Buffer for the next bytes to send, after a header; {@link #flush} sends them. */
  public ByteBuffer out() {
    return out;
  }

  public boolean hasRoomFor(int bytes) {
    return out.remaining() >= bytes;
  }

  /** Puts a header; there must be room. */
  public void putHeader(
      byte type, int flags, int length, long sequence, int immediate, int extent) {
    out.put(type).put((byte) flags).putShort((short) 0).putInt(length);
    out.putLong(sequence).putInt(immediate).putInt(extent);
  }

  /** Sends what the socket accepts; the rest follows when it accepts more. */
  public void flush() {
    if (closed || out.position() == 0 || !channel.isConnected()) {
      return;
    }
    try {
      out.flip();
      channel.write(out);
      out.compact();
      int writing = out.position() > 0 ? SelectionKey.OP_WRITE : 0;
      int interest = SelectionKey.OP_READ | writing;
      if (key.interestOps() != interest) {
        key.interestOps(interest);
        // Another thread may be in the selector.
        key.selector().wakeup();
      }
    } catch (IOException e) {
      end("connection lost: " + e.getMessage());
    }
  }

  /** Whether the socket has accepted all bytes. */
  public boolean isFlushed() {
    return out.position() == 0;
  }

  /** Drops everything received from now on. */
  public void discard() {
    parser.discard();
  }

  /** Sends no more; the peer receives the end after the bytes in flight. */
  public void shutdownOutput() {
    try {
      channel.shutdownOutput();
    } catch (IOException e) {
      close();
    }
  }

  @Override
  public void onSelected() {
    if (closed) {
      return;
    }
    try {
      if (key.isConnectable()) {
        channel.finishConnect();
        key.interestOps(SelectionKey.OP_READ);
        handler.onConnected();
      }
      if (!closed && key.isWritable()) {
        flush();
        handler.onWritable();
      }
      if (!closed && key.isReadable()) {
        receive();
      }
    } catch (java.net.ConnectException e) {
      close();
      handler.onConnectRefused(e.getMessage());
    } catch (ProtocolException e) {
      end("peer broke the protocol: " + e.getMessage());
    } catch (IOException e) {
      end("connection lost: " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("Unexpected failure in a connection of the soft device; closing it", e);
      end("connection closed after a failure: " + e);
    }
  }

  private void receive() throws IOException {
    for (int i = 0; i < READS_IN_A_ROW && !closed; i++) {
      int count = channel.read(in);
      if (count < 0) {
        end("connection closed by the peer");
        return;
      }
      in.flip();
      parser.parse(in);
      in.compact();
      if (count == 0 || (in.position() > 0 && parser.awaitsHeader())) {
        return;
      }
    }
  }

  private void end(String reason) {
    if (!closed) {
      close();
      handler.onEnded(reason);
    }
  }

  public boolean isClosed() {
    return closed;
  }

  /** Closes the socket without a call of the handler. */
  public void close() {
    closed = true;
    parser.discard();
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("Could not close socket", e);
    }
  }
}

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
 * A socket to a peer and the frames on it, see {@link Frame}. Guarded by the lock of the device.
 */
public final class Link implements SelectionHandler {
  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  /** Room for each frame of a set-up, and for wake-ups. */
  private static final int BUFFER_BYTES = 1 << 11;

  private final SocketChannel channel;
  private final FrameHandler handler;
  private final ByteBuffer in = buffer();
  private final ByteBuffer out = buffer();
  private final SelectionKey key;
  private boolean discarding;
  private boolean closed;

  /** Takes over a channel in non-blocking mode, connected or connecting. */
  public Link(Selector selector, SocketChannel channel, FrameHandler handler) throws IOException {
    this.channel = channel;
    this.handler = handler;
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

  // Sending.

  /** Sends a frame; false when the peer has not taken those before. */
  public boolean send(byte type, byte[] body) {
    if (closed || out.remaining() < Frame.HEADER_BYTES + body.length) {
      return false;
    }
    out.putInt(type).putInt(body.length).put(body);
    flush();
    return true;
  }

  /** Wakes the peer. Without room it has not read earlier frames, which wake it too. */
  public void wakePeer() {
    if (!closed && out.remaining() >= Frame.HEADER_BYTES) {
      out.putInt(Frame.WAKE).putInt(0);
      flush();
    }
  }

  /** Sends what the socket accepts; the rest follows when it accepts more. */
  private void flush() {
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

  /** Sends no more; the peer receives the end after the bytes in flight. */
  public void shutdownOutput() {
    try {
      channel.shutdownOutput();
    } catch (IOException e) {
      close();
    }
  }

  // Receiving.

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
        if (isFlushed()) {
          handler.onFlushed();
        }
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
    int count = channel.read(in);
    if (count < 0) {
      end("connection closed by the peer");
      return;
    }
    in.flip();
    if (discarding) {
      in.position(in.limit());
    } else {
      parse(in, handler);
    }
    in.compact();
  }

  /**
   * Passes whole frames to the handler, and leaves the rest in the buffer.
   *
   * @throws IOException when the bytes are no frame, or the handler throws it
   */
  static void parse(ByteBuffer in, FrameHandler handler) throws IOException {
    while (in.remaining() >= Frame.HEADER_BYTES) {
      int at = in.position();
      int type = in.getInt(at);
      int length = in.getInt(at + 4);
      if (type < 1 || type > Frame.WAKE || length < 0 || length > Frame.MAX_BODY_BYTES) {
        throw new ProtocolException("bad frame header: type=" + type + " lengthBytes=" + length);
      }
      if (in.remaining() < Frame.HEADER_BYTES + length) {
        return;
      }
      ByteBuffer body = in.slice(at + Frame.HEADER_BYTES, length).order(ByteOrder.LITTLE_ENDIAN);
      in.position(at + Frame.HEADER_BYTES + length);
      if (type != Frame.WAKE) {
        handler.onFrame((byte) type, body);
      }
    }
  }

  // The end.

  /** Drops everything received from now on. */
  public void discard() {
    discarding = true;
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
    discarding = true;
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("Could not close socket", e);
    }
  }
}

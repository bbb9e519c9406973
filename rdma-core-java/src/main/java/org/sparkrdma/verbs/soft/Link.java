/*
 * Licensed under the Apache License, Version 2.0 (the "License");
 * you may not use this file except in compliance with the License.
 * You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package org.sparkrdma.verbs.soft;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket to a peer and the frames on it. Of the device thread.
 *
 * <pre>
 *  0  type (8 bit), flags (8 bit), 0       4  length of what follows the header
 *  8  sequence number                     16  immediate data     20  extent; of FAILED 1 for
 *                                                              an invalid message
 * </pre>
 *
 * <p>All fields little-endian. Buffers are fixed: a frame longer than them passes in pieces.
 */
final class Link implements DeviceThread.Selected {
  static final int HEADER_BYTES = 24;

  private static final Logger LOG = LoggerFactory.getLogger(Link.class);

  static final byte REQUEST = 1;
  static final byte REPLY = 2;
  static final byte REJECT = 3;
  static final byte REFUSED = 4;
  static final byte READY = 5;
  static final byte DISCONNECT = 6;
  static final byte SEND = 16;
  static final byte WRITTEN = 17;
  static final byte ACKNOWLEDGE = 18;
  static final byte NOT_READY = 19;
  static final byte FAILED = 20;

  static final byte WITH_IMMEDIATE = 1;

  private static final int BUFFER_BYTES = 1 << 16;
  private static final int READS_IN_A_ROW = 16;

  private final SocketChannel channel;
  private final Frames frames;
  private final ByteBuffer in = buffer();
  private final ByteBuffer out = buffer();
  private final FrameParser parser;
  private final SelectionKey key;
  private boolean closed;

  /** Takes over a channel in non-blocking mode, connected or connecting. */
  Link(DeviceThread thread, SocketChannel channel, Frames frames) throws IOException {
    this.channel = channel;
    this.frames = frames;
    parser = new FrameParser(frames);
    channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    key = channel.register(thread.selector(), interest(), this);
  }

  /** Nothing, for a socket that is not even connecting. */
  private int interest() {
    if (channel.isConnected()) {
      return SelectionKey.OP_READ;
    }
    return channel.isConnectionPending() ? SelectionKey.OP_CONNECT : 0;
  }

  private static ByteBuffer buffer() {
    return ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  InetSocketAddress localAddress() throws IOException {
    return (InetSocketAddress) channel.getLocalAddress();
  }

  InetSocketAddress remoteAddress() throws IOException {
    return (InetSocketAddress) channel.getRemoteAddress();
  }

  /** Where the next bytes to send go, after a header; {@link #flush} sends them. */
  ByteBuffer out() {
    return out;
  }

  boolean hasRoomFor(int bytes) {
    return out.remaining() >= bytes;
  }

  /** Puts a header; there must be room. */
  void putHeader(byte type, int flags, int length, long sequence, int immediate, int extent) {
    out.put(type).put((byte) flags).putShort((short) 0).putInt(length);
    out.putLong(sequence).putInt(immediate).putInt(extent);
  }

  /** Sends what the socket takes; the rest follows when it takes more. */
  void flush() {
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
      }
    } catch (IOException e) {
      end("connection lost: " + e.getMessage());
    }
  }

  /** Whether everything put was handed to the socket. */
  boolean isFlushed() {
    return out.position() == 0;
  }

  /** From now on what comes in is thrown away. */
  void discard() {
    parser.discard();
  }

  /** No more will be sent; the peer sees the end after what is on its way. */
  void shutdownOutput() {
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
        frames.onConnected();
      }
      if (!closed && key.isWritable()) {
        flush();
        frames.onWritable();
      }
      if (!closed && key.isReadable()) {
        receive();
      }
    } catch (java.net.ConnectException e) {
      close();
      frames.onConnectRefused(e.getMessage());
    } catch (ProtocolException e) {
      end("peer broke the protocol: " + e.getMessage());
    } catch (IOException e) {
      end("connection lost: " + e.getMessage());
    } catch (RuntimeException e) {
      LOG.error("the soft device stumbled over a connection", e);
      end("connection given up: " + e);
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
      frames.onEnded(reason);
    }
  }

  boolean isClosed() {
    return closed;
  }

  /** Closes the socket without a word to the owner. */
  void close() {
    closed = true;
    parser.discard();
    try {
      channel.close();
    } catch (IOException e) {
      LOG.debug("could not close socket", e);
    }
  }

  /** The header of the frame at hand. */
  static final class Header {
    byte type;
    int flags;
    int length;
    long sequence;
    int immediate;
    int extent;

    void decode(ByteBuffer in) throws ProtocolException {
      type = in.get();
      flags = in.get();
      short zero = in.getShort();
      length = in.getInt();
      sequence = in.getLong();
      immediate = in.getInt();
      extent = in.getInt();
      if (zero != 0 || length < 0 || extent < 0) {
        throw new ProtocolException("bad frame header: type=" + type + " length=" + length);
      }
    }
  }

  /** Who takes the frames. */
  interface Frames {
    /** The socket is connected. */
    void onConnected() throws IOException;

    /** Nobody listens there. */
    void onConnectRefused(String reason);

    /** A header came; its payload follows in pieces. */
    void onFrame(Header header) throws IOException;

    /** A piece of payload; what is not taken is dropped. */
    void onPayload(Header header, ByteBuffer piece) throws IOException;

    /** The frame is complete. */
    void onFrameEnd(Header header) throws IOException;

    /** The socket takes bytes again. */
    void onWritable();

    /** The socket is closed, not by us. */
    void onEnded(String reason);
  }
}

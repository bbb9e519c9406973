// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.contract;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.sparkrdma.verbs.RemoteRegion;

/** Starts and controls a {@link PeerMain}. */
public final class PeerProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;
  private final PrintWriter input;
  private final InetSocketAddress address;

  private PeerProcess(Process process, EngineUnderTest engine) throws IOException {
    this.process = process;
    output = process.inputReader(StandardCharsets.UTF_8);
    input = new PrintWriter(process.outputWriter(StandardCharsets.UTF_8), true);
    address = new InetSocketAddress(engine.address(), Integer.parseInt(answer("listening")[1]));
  }

  /**
   * Starts a JVM with this JVM's class path and native libraries.
   *
   * @param starter a command that starts the command behind its own arguments; empty for none
   */
  public static Process java(List<String> starter, Class<?> main, List<String> arguments)
      throws IOException {
    List<String> command = new ArrayList<>(starter);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-Xmx128m",
            "-XX:TieredStopAtLevel=1",
            "--enable-native-access=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
            "-Djava.library.path=" + System.getProperty("java.library.path"),
            "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.add(main.getName());
    command.addAll(arguments);
    return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
  }

  /** Starts a peer with the engine's settings and more settings. */
  public static PeerProcess start(EngineUnderTest engine, Map<String, String> more)
      throws IOException {
    return start(List.of(), engine, more);
  }

  /** Same, by a command as in {@link #java(List, Class, List)}. */
  public static PeerProcess start(
      List<String> starter, EngineUnderTest engine, Map<String, String> more) throws IOException {
    List<String> arguments = new ArrayList<>();
    arguments.add(engine.name());
    arguments.add(engine.address().getHostAddress());
    engine.settings().forEach((key, value) -> arguments.add(key + "=" + value));
    more.forEach((key, value) -> arguments.add(key + "=" + value));
    Process process = java(starter, PeerMain.class, arguments);
    try {
      return new PeerProcess(process, engine);
    } catch (IOException | RuntimeException e) {
      process.destroyForcibly();
      throw e;
    }
  }

  /** Address of its listener. */
  public InetSocketAddress address() {
    return address;
  }

  /** Registers memory in the peer, filled with one byte value. */
  public RemoteRegion memory(int lengthBytes, int fill) throws IOException {
    return region("memory " + lengthBytes + " " + fill);
  }

  /** Registers a range of a file in the peer. */
  public RemoteRegion file(Path file, long offset, long lengthBytes) throws IOException {
    return region("file " + lengthBytes + " " + offset + " " + file);
  }

  private RemoteRegion region(String command) throws IOException {
    input.println(command);
    String[] words = answer("region");
    return new RemoteRegion(
        Long.parseLong(words[1]), Long.parseLong(words[2]), Long.parseLong(words[3]));
  }

  /** Closes a region of the peer. */
  public void closeRegion(RemoteRegion region) throws IOException {
    input.println("close " + region.remoteKey());
    answer("closed");
  }

  /** Allocates memory in the peer; returns {@code allocated}, or {@code refused} and the reason. */
  public String allocate(long lengthBytes) throws IOException {
    input.println("allocate " + lengthBytes);
    return String.join(" ", answer(""));
  }

  private String[] answer(String expected) throws IOException {
    String line = output.readLine();
    if (line == null || !line.startsWith(expected)) {
      throw new IOException("unexpected answer of the peer: " + line);
    }
    return line.split(" ");
  }

  /** Stops the process with SIGSTOP; returns when it is stopped. */
  public void freeze() throws IOException {
    signal("STOP");
    Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
    while (!Files.readString(stat).contains(") T ")) {
      Thread.onSpinWait();
    }
  }

  /** Continues the stopped process. */
  public void thaw() throws IOException {
    signal("CONT");
  }

  /** Kills the process with SIGKILL. */
  public void kill() throws IOException {
    signal("KILL");
    process.onExit().join();
  }

  private void signal(String name) throws IOException {
    String pid = Long.toString(process.pid());
    int code = new ProcessBuilder("kill", "-" + name, pid).start().onExit().join().exitValue();
    if (code != 0) {
      throw new IOException("kill failed: signal=" + name + " code=" + code);
    }
  }

  /** Its process id. */
  public long pid() {
    return process.pid();
  }

  /** Ends the process with SIGTERM and waits for it. */
  public void terminate() throws IOException {
    signal("TERM");
    process.onExit().join();
  }

  /** Ends the process, also when it is stopped or dead. */
  @Override
  public void close() throws IOException {
    if (process.isAlive()) {
      thaw();
      input.close();
    }
    process.onExit().join();
    output.close();
    input.close();
  }
}

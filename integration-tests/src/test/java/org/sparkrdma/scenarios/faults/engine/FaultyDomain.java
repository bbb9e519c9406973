// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.scenarios.faults.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.sparkrdma.scenarios.faults.plan.Act;
import org.sparkrdma.scenarios.faults.plan.Faults;
import org.sparkrdma.scenarios.faults.plan.Rule;
import org.sparkrdma.scenarios.faults.plan.Step;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.HostMemory;
import org.sparkrdma.verbs.MemoryRegion;
import org.sparkrdma.verbs.ProtectionDomain;
import org.sparkrdma.verbs.VerbsException;

/** Refuses registrations, and deletes or truncates registered files. Safe for any thread. */
final class FaultyDomain implements ProtectionDomain {
  private static final long CUT_BYTES = 100;
  private static final long LEAST_SINKS_BYTES = 1 << 20;

  private final ProtectionDomain real;
  private final Faults faults;
  private final Map<MemoryRegion, Range> ranges = new ConcurrentHashMap<>();

  private record Range(HostMemory memory, long offset) {}

  FaultyDomain(ProtectionDomain real, Faults faults) {
    this.real = real;
    this.faults = faults;
  }

  ProtectionDomain real() {
    return real;
  }

  /** The bytes of a memory range. */
  ByteBuffer bytes(MemoryRange part) {
    Range range = ranges.get(part.region());
    return range.memory.slice(range.offset + part.offset(), part.lengthBytes());
  }

  @Override
  public MemoryRegion register(
      HostMemory memory, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    // Memory of copies is read by peers only.
    if (access.contains(AccessFlag.LOCAL_WRITE)) {
      Step step = lengthBytes < LEAST_SINKS_BYTES ? Step.REGISTER_CONTROL : Step.REGISTER_SINKS;
      refuse(faults.fire(step), lengthBytes);
    }
    MemoryRegion region = real.register(memory, offset, lengthBytes, access);
    ranges.put(region, new Range(memory, offset));
    return region;
  }

  @Override
  public MemoryRegion registerFile(Path file, long offset, long lengthBytes, Set<AccessFlag> access)
      throws VerbsException {
    Rule rule = faults.fire(Step.REGISTER_FILE);
    refuse(rule, lengthBytes);
    MemoryRegion region = real.registerFile(file, offset, lengthBytes, access);
    if (rule != null) {
      corrupt(file, rule.act());
    }
    return region;
  }

  private static void refuse(Rule rule, long lengthBytes) throws VerbsException {
    if (rule != null && rule.act() == Act.FAIL) {
      int errno = Integer.parseInt(rule.argument());
      throw new VerbsException(
          "ibv_reg_mr",
          errno,
          "ibv_reg_mr failed: errno=" + errno + " lengthBytes=" + lengthBytes,
          null);
    }
  }

  private static void corrupt(Path file, Act act) throws VerbsException {
    try {
      if (act == Act.DELETE) {
        Files.delete(file);
      } else {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
          channel.truncate(channel.size() - CUT_BYTES);
        }
      }
    } catch (IOException e) {
      throw new VerbsException("ibv_reg_mr", "a fault could not be made: file=" + file, e);
    }
  }

  @Override
  public void close() {
    real.close();
  }
}

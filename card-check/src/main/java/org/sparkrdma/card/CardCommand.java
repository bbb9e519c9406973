// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import org.sparkrdma.shuffle.tools.collect.AddressMask;
import org.sparkrdma.verbs.device.DeviceInfo;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Runs the contract suite on a device, then a transfer, and writes the report. The help is in the
 * script {@code card}. Confined to the main thread.
 */
@Command(name = "card")
final class CardCommand implements Callable<Integer> {
  static final int PASSED = 0;
  static final int FAILED = 1;
  static final int WRONG_USAGE = 2;

  /** The longest region of MemoryContract, and memory for all else. */
  static final long LOCKED_BYTES = 3L << 30;

  private static final int MAX_MINUTES = 600;
  private static final int SECONDS_PER_MINUTE = 60;
  private static final String SUITE = "org.sparkrdma.verbs.ibverbs.IbverbsVerbsContractOnCard";

  /** The nested classes of VerbsContractSuite. */
  static final List<String> GROUPS =
      List.of(
          "Connections",
          "Reads",
          "Sends",
          "Writes",
          "Limits",
          "Memory",
          "FileRegions",
          "Completions",
          "Devices",
          "TwoProcesses",
          "LateReads",
          "Stress");

  @Spec private CommandSpec spec;

  @Parameters(paramLabel = "DEVICE")
  private String device;

  @Option(names = "--report", paramLabel = "FILE")
  private String report;

  @Option(names = "--cases", paramLabel = "LIST", split = ",")
  private List<String> cases = List.of();

  @Option(names = "--files", paramLabel = "FOLDER")
  private String files;

  @Option(names = "--peer-address", paramLabel = "HOST")
  private String peer;

  @Option(names = "--minutes", paramLabel = "MINUTES", defaultValue = "30")
  private double minutes;

  private final DeviceSource devices;
  private final HostFiles host;
  private final Programs programs;

  /**
   * @param devices those of this host
   * @param host files of this host
   * @param programs that it starts
   */
  CardCommand(DeviceSource devices, HostFiles host, Programs programs) {
    this.devices = devices;
    this.host = host;
    this.programs = programs;
  }

  /**
   * Runs a command.
   *
   * @return the exit code
   */
  static int run(CardCommand command, PrintWriter out, PrintWriter errors, String... arguments) {
    return new CommandLine(command)
        .setOut(out)
        .setErr(errors)
        .setParameterExceptionHandler(
            (wrong, given) -> {
              errors.println("card: " + wrong.getMessage() + " (see ./card --help)");
              return WRONG_USAGE;
            })
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              if (failure instanceof NotUsableException) {
                errors.println("card: " + failure.getMessage());
                return WRONG_USAGE;
              }
              errors.println("card: the command failed; please report this:");
              failure.printStackTrace(errors);
              return FAILED;
            })
        .execute(arguments);
  }

  @Override
  public Integer call() throws NotUsableException, IOException, InterruptedException {
    List<String> tests = tests();
    if (!(minutes >= 1 && minutes <= MAX_MINUTES)) {
      throw wrong("--minutes is '" + minutes + "': give 1 to " + MAX_MINUTES);
    }
    Path file = reportFile();
    Path folder = folderOfFiles();
    try (TimeLimit limit = TimeLimit.start(duration(), spec.commandLine().getErr())) {
      CardDevice card = CardDevice.find(list(), device);
      checkLockedMemory();
      SystemFacts system = SystemFacts.of(host, card.info(), programs.pluginJar());
      announce(card, system);
      CardReport result = run(card, system, tests, folder, limit);
      finish(result, file);
      return result.passed() ? PASSED : FAILED;
    }
  }

  private List<DeviceInfo> list() throws NotUsableException {
    try {
      return devices.devices();
    } catch (NotUsableException e) {
      throw new NotUsableException("device " + device + " is not found: " + e.getMessage());
    }
  }

  private CardReport run(
      CardDevice card, SystemFacts system, List<String> tests, Path folder, TimeLimit limit)
      throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    SuiteRun suite = SuiteRun.run(programs, card, system.driver(), tests, limit, out::println);
    if (!limit.left().isZero()) {
      out.println("Measuring what registering files costs on this device, some seconds.");
    }
    CostResult costs =
        print(CostResult.measure(programs, card, folder, limit, out::println), folder);
    Transfer transfer = new Transfer(programs, card, limit, out::println);
    if (!limit.left().isZero()) {
      out.println("Measuring RDMA READ and TCP between two processes on this device, about 20 s.");
    }
    TransferResult loop = print(transfer.ownLoop());
    TransferResult other = null;
    if (peer != null) {
      out.println("Measuring RDMA READ and TCP with the other host, about 20 s.");
      other = print(transfer.peer(peer));
    }
    return new CardReport(
        card, system, LocalDate.now(ZoneOffset.UTC), cases, suite, costs, loop, other);
  }

  private Duration duration() {
    return Duration.ofSeconds(Math.round(minutes * SECONDS_PER_MINUTE));
  }

  private void checkLockedMemory() throws NotUsableException {
    OptionalLong lockable = host.lockableBytes();
    if (lockable.isPresent() && lockable.getAsLong() < LOCKED_BYTES) {
      throw new NotUsableException(
          ("this process may lock %d bytes of memory (RLIMIT_MEMLOCK), and the suite registers up to"
                  + " %d: run ulimit -l unlimited in this shell, or let root raise the limit of"
                  + " this user in /etc/security/limits.conf and log in again")
              .formatted(lockable.getAsLong(), LOCKED_BYTES));
    }
  }

  private void announce(CardDevice card, SystemFacts system) {
    PrintWriter out = spec.commandLine().getOut();
    out.printf(
        "Device %s: driver %s, firmware %s, port %d, addresses %s.%n",
        card.name(),
        system.driver(),
        card.info().reported().getOrDefault("fw_ver", SystemFacts.UNKNOWN),
        card.port().number(),
        card.addresses().stream().map(InetAddress::getHostAddress).toList());
    out.printf(
        "Linux %s, rdma-core %s, Java %s, plug-in %s.%n",
        system.kernel(), system.rdmaCore(), system.java(), system.plugin());
    out.printf(
        "It takes some minutes; the time limit ends it at %s.%n",
        LocalTime.now(ZoneId.systemDefault())
            .plus(duration())
            .format(DateTimeFormatter.ofPattern("HH:mm")));
  }

  private CostResult print(CostResult costs, Path folder) {
    PrintWriter out = spec.commandLine().getOut();
    if (costs.succeeded()) {
      out.printf(
          "A file in %s (%s): microseconds to register and deregister, to copy, and their ratio.%n",
          folder, costs.figures().path("fileSystem").asText());
    }
    costs.lines().forEach(out::println);
    if (!costs.succeeded()) {
      out.println("FAILED costs: " + costs.error());
    }
    return costs;
  }

  private TransferResult print(TransferResult transfer) {
    PrintWriter out = spec.commandLine().getOut();
    transfer.lines().forEach(out::println);
    if (!transfer.succeeded()) {
      out.println("FAILED transfer: " + transfer.error());
    }
    return transfer;
  }

  private void finish(CardReport result, Path file) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    AddressMask mask = new AddressMask(host.system());
    Files.writeString(file, result.json(mask));
    out.println("Row for docs/cards.md:");
    out.println(mask.mask(result.row()));
    out.println("The report is " + file + "; it has no addresses, keys or host names.");
    out.println(
        result.passed()
            ? "Everything passed."
            : "Not everything passed. A failed case may be a deviation of this driver that the suite does"
                + " not know.");
  }

  /** Arguments of ContractMain. */
  private List<String> tests() {
    if (cases.isEmpty()) {
      return List.of(SUITE);
    }
    List<String> tests = new ArrayList<>();
    for (String one : cases) {
      if (!one.matches("\\w+(#\\w+)?") || !GROUPS.contains(one.split("#", 2)[0])) {
        throw wrong(
            "--cases has '"
                + one
                + "': give GROUP or GROUP#METHOD, with a group of "
                + String.join(", ", GROUPS));
      }
      tests.add(SUITE + "/" + one);
    }
    return tests;
  }

  /** The file of the report, which can be written. */
  private Path reportFile() {
    String name = report == null ? "card-" + device.replaceAll("[^\\w.-]", "_") + ".json" : report;
    try {
      Path file = Path.of(name).toAbsolutePath();
      boolean exists = Files.exists(file);
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
      if (!exists) {
        Files.delete(file);
      }
      return file;
    } catch (IOException | InvalidPathException e) {
      throw wrong("--report cannot be written: " + name);
    }
  }

  private Path folderOfFiles() {
    String name = files == null ? System.getProperty("java.io.tmpdir") : files;
    try {
      Path folder = Path.of(name).toAbsolutePath();
      if (Files.isDirectory(folder) && Files.isWritable(folder)) {
        return folder;
      }
    } catch (InvalidPathException e) {
      // Reported below.
    }
    throw wrong(
        files == null
            ? "the folder for temporary files cannot be written, give --files: " + name
            : "--files is no folder that can be written: " + name);
  }

  private ParameterException wrong(String sentence) {
    return new ParameterException(spec.commandLine(), sentence);
  }
}

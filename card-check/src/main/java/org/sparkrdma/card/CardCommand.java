// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.card;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
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
public final class CardCommand implements Callable<Integer> {
  private static final int MAX_MINUTES = 600;
  private static final List<String> QUICK = List.of("Connections", "Reads", "Sends");
  private static final long SUITE_LOCKS = 3L << 30;
  private static final long QUICK_LOCKS = 64L << 20;
  private static final String SUITE = "org.sparkrdma.verbs.ibverbs.IbverbsVerbsContractOnCard";

  @Spec private CommandSpec spec;

  @Parameters(arity = "0..1", paramLabel = "DEVICE")
  private String device;

  @Option(names = "--report", paramLabel = "FILE")
  private String report;

  @Option(names = "--cases", paramLabel = "LIST", split = ",")
  private List<String> cases = List.of();

  @Option(names = "--quick")
  private boolean quick;

  @Option(names = "--facts")
  private boolean facts;

  @Option(names = "--minutes", paramLabel = "MINUTES", defaultValue = "30")
  private double minutes;

  private final Supplier<List<DeviceInfo>> devices;
  private final HostFacts host;
  private final Programs programs;

  /**
   * @param devices those of this host
   * @param programs that it starts
   */
  CardCommand(Supplier<List<DeviceInfo>> devices, HostFacts host, Programs programs) {
    this.devices = devices;
    this.host = host;
    this.programs = programs;
  }

  /** The main class of the archive: runs the command on this host. */
  public static void main(String[] arguments) {
    var command = new CardCommand(CardDevice::list, new HostFacts(Path.of("/")), new Programs());
    System.exit(command.line().execute(arguments));
  }

  /** Runs the command; prints each error as one sentence. */
  CommandLine line() {
    return new CommandLine(this)
        .setParameterExceptionHandler(
            (wrong, given) -> {
              PrintWriter errors = wrong.getCommandLine().getErr();
              errors.println("card: " + wrong.getMessage() + " (see ./card --help)");
              return CommandLine.ExitCode.USAGE;
            })
        .setExecutionExceptionHandler(
            (failure, line, parsed) -> {
              if (!(failure instanceof NotUsableException)) {
                throw failure;
              }
              line.getErr().println("card: " + failure.getMessage());
              return CommandLine.ExitCode.USAGE;
            });
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (!(minutes >= 1 && minutes <= MAX_MINUTES)) {
      throw new ParameterException(
          spec.commandLine(), "--minutes is '" + minutes + "': give 1 to " + MAX_MINUTES);
    }
    PrintWriter out = spec.commandLine().getOut();
    if (facts) {
      return writeFacts(out);
    }
    if (quick && cases.isEmpty()) {
      cases = QUICK;
    }
    List<String> tests =
        cases.isEmpty() ? List.of(SUITE) : cases.stream().map(one -> SUITE + "/" + one).toList();
    Instant end = Instant.now().plusSeconds(Math.round(minutes * 60));
    CardDevice card = find();
    checkLimit();
    Path file = reportFile(card.name());
    String driver = host.driver(card.info());
    out.printf("Device %s, driver %s. It takes some minutes.%n", card.name(), driver);
    SuiteRun suite = new SuiteRun(out::println);
    suite.run(programs, card, driver, tests, end);
    out.println("Measuring RDMA READ and TCP between two processes on this device.");
    Transfer loop = Transfer.measure(programs, card, end);
    out.println("READ throughput divided by TCP throughput: " + loop.ratios());
    CardReport result = new CardReport(card, host, programs.pluginJar(), cases, suite, loop);
    Files.writeString(file, result.json());
    out.println("The report is " + file + "; it has no addresses, keys or host names.");
    if (cases.isEmpty()) {
      out.println("Row for docs/data/status.csv: " + result.statusRow());
    }
    programs
        .page()
        .ifPresent(
            page ->
                out.printf(
                    "Please open an issue and attach the report: %s%n", result.issueLink(page)));
    out.println(result.passed() ? "Everything passed." : "Not everything passed.");
    return result.passed() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }

  private CardDevice find() {
    List<String> slingshot = host.slingshot();
    try {
      return CardDevice.find(devices.get(), device);
    } catch (NotUsableException e) {
      throw slingshot.isEmpty()
          ? e
          : new NotUsableException(
              "%s; %s is HPE Slingshot, which has no verbs and cannot be tested"
                  .formatted(e.getMessage(), String.join(", ", slingshot)));
    }
  }

  /** Selected cases may need less than the whole suite, so they are tried. */
  private void checkLimit() {
    long needed = cases.isEmpty() ? SUITE_LOCKS : quick ? QUICK_LOCKS : 0;
    long allowed = host.lockableBytes();
    if (allowed < needed) {
      throw new NotUsableException(
          "this shell may lock %d KiB of memory, and %d MiB are needed: raise ulimit -l%s"
              .formatted(
                  allowed >> 10,
                  needed >> 20,
                  cases.isEmpty() ? ", or begin with --quick, which needs 64 MiB" : ""));
    }
  }

  /** Facts of all verbs devices, without a test. */
  private int writeFacts(PrintWriter out) throws IOException {
    Path file = reportFile("facts");
    ObjectNode all = new ObjectMapper().createObjectNode();
    // With the trials of files these tell which kernels of a vendor write registered files.
    all.put("kernel", System.getProperty("os.version"));
    all.put("system", host.system());
    all.put("fileSystem", host.fileSystem(file.getParent()));
    all.set("devices", new VerbsFacts(host, file.getParent()).ofAllDevices());
    all.put("slingshotWithoutVerbs", String.join(", ", host.slingshot()));
    Files.writeString(file, all.toPrettyString() + "\n");
    out.println(all.toPrettyString());
    out.println("The same is in " + file + "; it has no addresses, keys or host names.");
    return CommandLine.ExitCode.OK;
  }

  /** The file of the report, which can be written. */
  private Path reportFile(String subject) {
    String name = report == null ? "card-" + subject.replaceAll("[^\\w.-]", "_") + ".json" : report;
    try {
      Path file = Path.of(name).toAbsolutePath();
      Files.newOutputStream(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND).close();
      return file;
    } catch (IOException | InvalidPathException e) {
      throw new ParameterException(spec.commandLine(), "--report cannot be written: " + name);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkrdma.guest.cluster.StepResult;
import org.sparkrdma.launch.LaunchException;
import org.sparkrdma.launch.git.Commit;
import org.sparkrdma.launch.git.GitRepository;

/**
 * The result of a cell in {@code guest-matrix.json}; with {@code -Dupdate.docs=true} also the page
 * {@code docs/guest-matrix.md} from all results there. A cell that was started and has not passed
 * has none.
 */
final class MatrixReport {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The page above its table. */
  static final String HEAD =
      """
      # Guest matrix

      A shuffle of 18 MB between two kernels with soft RDMA; about half of it is remote. **Only rows with a date have passed**, on that date.
      Settings `test` are `copy.first=false`, `request.timeout=10s` and `peer.timeout=20s`, which are not the defaults. With `shipped`, `spark.jars`
      and `spark.shuffle.manager` are set and nothing else of the plug-in. Each cell compares the answer with that of vanilla Spark and asserts
      what "expected" says:

      | expected | meaning |
      | --- | --- |
      | read | all remote bytes by READ |
      | once | each byte once, by READ or TCP, some by READ |
      | tcp | RDMA is off, and the log has the reason |
      | back | the fault ends RDMA; afterwards all bytes come by READ again |

      The table is `integration-tests/src/test/resources/guest/matrix.csv`; `GuestMatrixIT` runs it and writes this page
      (`-Dguest.cells=NAME,NAME` selects cells). `.ci/run` runs the cell `ci`. `.ci/nightly guest` runs the others, which are tagged `nightly`;
      nothing in this repository starts that on a schedule. The command below needs Debian 12 or 13, a JDK of 17 or newer, the packages of `./guest packages`
      ([the tool](../integration-tests/guest/README.md)), nfs-kernel-server and xfsprogs. Its first run builds three kernels.
      All cells are run nightly or by hand, with

      ```bash
      ./mvnw verify -Pguest,nightly -Dit.skipSuites=true -DskipUnitTests=true -Dit.test=GuestMatrixIT -Dupdate.docs=true
      ```

      Kernel, transport, file system and MTU are pairwise complete: each two values of two of these columns are together in a cell. The pair
      overlay and MTU 9000 is only in `memlock-64k`, where RDMA does not start, so no READ has used it.
      "bytes" are those of the job under the fault; "Spark's own" are bytes read by an executor without RDMA. "tmpfs", "overlay" and so on are the
      file system of `spark.local.dir`.

      """;

  /** The page below its table. */
  static final String FOOT =
      """

      `objects-40`, `objects-3`: the control group's `rdma.max` allows 40 or 3 RDMA objects (`hca_object`). With 3 RDMA must not start, and
      the log must name the limit. `vlan`: the address of RoCE is that of a VLAN interface.
      `bond-failover`: the bond takes over the hardware address of the wire that carries its packets (`fail_over_mac active`), and the log must
      say that the listener's address moved. `bond-keeps`: the bond keeps one hardware address (`fail_over_mac none`, the kernel's default), so that
      no address moves. RDMA must go on: all bytes of a job after the fault come by READ.
      `address-change`, `iwarp-address`: another address replaces that of the listener, and the log must say so. On iWARP it is an address for RDMA
      alone (`listen.address`), because Spark's own connections use the same wire.
      All cells of kernel 6.1, and of 6.12 those with xfs, NFS, a bond, a VLAN, a limit of RDMA objects or refused allocations, run on a kernel with more options
      (`integration-tests/guest/kernel.matrix.config`); NFS needs the package nfs-kernel-server, xfs the package xfsprogs.
      `old-nfs`: NFS 4.0 on one host, with two threads of the server. With `spark.local.dir` there and registered files, fetches took 182 and 186 s
      on 2026-11-22, by TCP as well, with the right answer. Linux 6.1 makes pages of registered files dirty. Writing them back breaks the
      delegation that the client has of the same file. All threads of the server waited for its return in `__break_lease`, for 45 s each
      (`fs.lease-break-time`), and the client needs one of these threads to return it. Vanilla Spark took 5.9 and 7.3 s without a stall, as did the plug-in
      (7.1 s, files registered) on a server that gives no delegations (`fs.leases-enable=0`). Since then the plug-in serves map outputs on NFS by
      copies on Linux before 6.2. The cell asserts that the logs of both executors say so; all other cells assert that theirs do not.
      `failslab`, `failpages`: in every second registration of memory by node 2's executor the kernel refuses one allocation, of small memory or of
      pages: the first one, then the second one and so on up to the twelfth (`fail-nth`, from a preloaded library). The cell asserts that the kernel reports refused
      allocations. Only that system call gets failures: elsewhere a failed mmap of the JVM's own memory would end the JVM.
      A cell that has not passed since the results were last deleted has "not run" under "bytes" and no date.
      """;

  /** The commit that is checked out, read before this class changes the page. */
  private static final class Checkout {
    static final String COMMIT = commit();

    private static String commit() {
      var repository = new GitRepository(Path.of(Build.property("it.matrix.page")).getParent());
      try {
        return repository.commit("HEAD").map(Commit::shortHash).orElse("in no repository")
            + (repository.hasChanges() ? " with changed files" : "");
      } catch (IOException | LaunchException e) {
        return "unknown commit";
      } catch (InterruptedException e) {
        throw new IllegalStateException("interrupted", e);
      }
    }
  }

  private final MatrixCell cell;
  private final Path file;
  private final ObjectNode all;

  MatrixReport(MatrixCell cell) throws IOException {
    this.cell = cell;
    System.out.println("guest matrix: cell=" + cell.name() + " commit=" + Checkout.COMMIT);
    file = Path.of(Build.property("it.guest.report")).resolveSibling("guest-matrix.json");
    all = Files.exists(file) ? (ObjectNode) JSON.readTree(file.toFile()) : JSON.createObjectNode();
    all.remove(cell.name());
    write();
  }

  /** The cell has passed all assertions. */
  void passed(ClusterRun cluster, StepResult blocks) throws IOException {
    ObjectNode result = all.putObject(cell.name());
    for (int i = 1; i < MatrixCell.COLUMNS.size(); i++) {
      result.put(MatrixCell.COLUMNS.get(i), cell.values().get(i));
    }
    result
        .put("release", cluster.content("release").strip())
        .put("java", GuestJdk.version())
        .put("commit", Checkout.COMMIT)
        .put("date", LocalDate.now(ZoneOffset.UTC).toString())
        .put("readBytes", blocks.rdmaBytes())
        .put("tcpBytes", blocks.tcpBytes())
        .put("remoteBytes", blocks.remoteBytesRead())
        .put("seconds", Math.round(blocks.seconds()));
    result.set("fallbacks", JSON.valueToTree(blocks.fallbacks()));
    write();
  }

  private void write() throws IOException {
    JSON.writerWithDefaultPrettyPrinter().writeValue(file.toFile(), all);
    if (Boolean.getBoolean("update.docs")) {
      Files.writeString(Path.of(Build.property("it.matrix.page")), page());
    }
  }

  private String page() {
    List<String> columns = new ArrayList<>(MatrixCell.COLUMNS);
    columns.addAll(List.of("bytes", "by TCP, because", "kernel, Java, commit, date"));
    StringBuilder page = new StringBuilder(HEAD).append(row(columns));
    page.append(row(columns.stream().map(column -> "---").toList()));
    for (MatrixCell one : MatrixCell.all()) {
      List<String> values = new ArrayList<>(one.values());
      values.addAll(results(all.path(one.name())));
      page.append(row(values));
    }
    return page.append(FOOT).toString();
  }

  private static List<String> results(JsonNode result) {
    if (result.isMissingNode()) {
      return List.of("not run", "", "");
    }
    long read = result.path("readBytes").asLong();
    long tcp = result.path("tcpBytes").asLong();
    List<String> bytes = new ArrayList<>();
    add(bytes, "READ", read);
    add(bytes, "TCP", tcp);
    add(bytes, "Spark's own", result.path("remoteBytes").asLong() - read - tcp);
    List<String> reasons = new ArrayList<>();
    result.path("fallbacks").fieldNames().forEachRemaining(reasons::add);
    return List.of(
        String.join(", ", bytes),
        String.join(", ", reasons),
        Stream.of("release", "java", "commit", "date")
            .map(field -> result.path(field).asText())
            .filter(value -> !value.isEmpty())
            .collect(Collectors.joining(", ")));
  }

  private static void add(List<String> bytes, String path, long count) {
    if (count > 0) {
      bytes.add(path + " " + count);
    }
  }

  private static String row(List<String> values) {
    return "| " + String.join(" | ", values) + " |\n";
  }
}

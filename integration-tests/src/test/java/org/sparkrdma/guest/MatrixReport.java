// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.guest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import org.sparkrdma.guest.cluster.StepResult;

/** The result of a cell of the guest matrix, and the text of its page around the table. */
final class MatrixReport {
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

      Kernel, transport, file system and MTU are pairwise complete: each two values of two of these columns are together in a cell.
      "bytes" are those of the job under the fault; "Spark's own" are bytes read by an executor without RDMA. "tmpfs", "overlay" and so on are the
      file system of `spark.local.dir`.

      """;

  /** The page between its tables. */
  static final String FOOT =
      """

      `objects-40`, `objects-3`, `handles-0`: limits of the control group in `rdma.max`, 40 or 3 RDMA objects (`hca_object`) with one open
      device (`hca_handle`), or none. With 3 objects and without a handle RDMA must not start. The log must name the limit, in `memlock-64k` too.
      Network `vlan`: the address of RoCE is that of a VLAN interface. `netns`: `rdma system set netns exclusive`, the executor in the first network
      namespace. `own-netns`: the wire, its device `siw0` and all processes of the node are in a network namespace of their own, with
      `rdma system set netns shared`, the kernel's default ([why not exclusive](guest.md#network-namespaces)).
      `device-return`: the log must say that the port of the device is down, or that an address was removed: the kernel removes the IPv6 address of a
      wire that goes down, and reports both.
      `bond-failover`: the bond takes over the hardware address of the wire that carries its packets (`fail_over_mac active`), and the log must
      say that the listener's address moved. `bond-keeps`: the bond keeps one hardware address (`fail_over_mac none`, the kernel's default), so that
      no address moves. RDMA must go on: all bytes of a job after the fault come by READ.
      `address-change`, `iwarp-address`: another address replaces that of the listener, and the log must say so. On iWARP it is an address for RDMA
      alone (`listen.address`), because Spark's own connections use the same wire.
      All cells of kernel 6.1, and of 6.12 those with xfs, NFS, a bond, a VLAN, a limit of `rdma.max` or refused allocations, run on a kernel with more options
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
      A cell that was changed or has failed since it passed has "not run" under "bytes" and no date.
      """;

  private final MatrixCell cell;
  private final MatrixPage page;

  MatrixReport(MatrixCell cell) throws IOException {
    this.cell = cell;
    page = new MatrixPage();
    page.start(cell.name());
  }

  /** The cell has passed all assertions. */
  void passed(ClusterRun cluster, StepResult blocks) throws IOException {
    ObjectNode result = page.result(cell.name(), cluster);
    for (int i = 1; i < MatrixCell.COLUMNS.size(); i++) {
      result.put(MatrixCell.COLUMNS.get(i), cell.values().get(i));
    }
    MatrixPage.put(result, blocks);
    page.write();
  }
}

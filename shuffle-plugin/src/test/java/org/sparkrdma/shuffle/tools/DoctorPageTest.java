// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkrdma.shuffle.GeneratedPage;
import org.sparkrdma.shuffle.tools.doctor.FakeMachine;

/** The output of docs/doctor.md, of the doctor on files like those of a machine without a card. */
@Timeout(60)
class DoctorPageTest {
  private static final Path PAGE = Path.of("..", "docs", "doctor.md");

  @TempDir private Path root;

  @Test
  void shouldShowTheAnswerOnABareMachine() throws IOException {
    FakeMachine machine =
        new FakeMachine(root)
            .memlock("unlimited", "unlimited")
            .variable("SPARK_LOCAL_DIRS", "/tmp")
            .reason(
                "ibverbs: no RDMA device: the kernel lists none in /sys/class/infiniband, and the"
                    + " PCI bus has no network card of a vendor with RDMA");
    String output = DoctorCommand.text(machine.report(), false) + "\n";
    GeneratedPage.partShouldBe(PAGE, "Output", "DoctorPageTest", "\n```\n" + output + "```\n\n");
  }
}

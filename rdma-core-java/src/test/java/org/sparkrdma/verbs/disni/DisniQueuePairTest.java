// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.IbvSendWR;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.KernelDriver;

/** Requests that are posted through DiSNI. */
class DisniQueuePairTest {
  /** DiSNI writes the list of elements behind the request, whatever the count says. */
  @ParameterizedTest
  @CsvSource({"IRDMA, 0", "ERDMA, 0", "RXE, 0", "SIW, 1"})
  void shouldPostAnEmptyElementWithAReadOfNoBytes(KernelDriver driver, int count) {
    IbvSendWR read = DisniQueuePair.send(driver, new WorkRequest(1).read(1, 0, 0), 1);

    assertThat(read.getNum_sge()).isEqualTo(count);
    assertThat(read.getSg_list())
        .singleElement()
        .satisfies(element -> assertThat(element.getLength()).isZero());
  }
}

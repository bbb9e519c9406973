// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.SVCPostSend;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkrdma.verbs.WorkRequest;
import org.sparkrdma.verbs.engine.Driver;

/** Requests that are prepared for DiSNI. */
@Timeout(10)
class SendCallsTest {
  private final List<IbvSendWR> prepared = new ArrayList<>();

  /** DiSNI writes the list of elements behind the request, whatever the count says. */
  @ParameterizedTest
  @CsvSource({"IRDMA, 0", "ERDMA, 0", "RXE, 0", "SIW, 1"})
  void shouldPrepareAnEmptyElementForAReadOfNoBytes(Driver driver, int count) throws Exception {
    FakeDisni disni = FakeDisni.install();
    var queuePair =
        new IbvQP(1) {
          @Override
          public SVCPostSend postSend(List<IbvSendWR> work, List<IbvSendWR> failed)
              throws IOException {
            prepared.addAll(work);
            throw new IOException("not posted");
          }
        };

    try (var calls = new SendCalls(queuePair, driver)) {
      assertThatThrownBy(() -> calls.post(new WorkRequest(1).read(1, 0, 0), 1))
          .hasMessage("not posted");
    } finally {
      disni.close();
    }

    IbvSendWR read = prepared.get(0);
    assertThat(read.getNum_sge()).isEqualTo(count);
    assertThat(read.getSg_list())
        .singleElement()
        .satisfies(element -> assertThat(element.getLength()).isZero());
  }
}

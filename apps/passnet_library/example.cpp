// Loads a bundle, calls it on ones, and prints the first elements of each output.
//   g++ -std=c++17 apps/passnet_library/example.cpp -Iinclude -Lbuild/lib -lpassnet -Wl,-rpath,build/lib -o bundle && ./bundle model.passnet 8 32
#include <passnet_bundle.h>

#include <cstdio>
#include <exception>

int main(int count, char** words) try {
  if (count < 2) return std::fputs("usage: bundle FILE [SIZE…]: the shape of every input\n", stderr), 2;
  const passnet::Bundle model(words[1]);
  std::vector<int64_t> shape;
  for (int i = 2; i < count; ++i) shape.push_back(std::atoll(words[i]));
  size_t elements = 1;
  for (const int64_t size : shape) elements *= static_cast<size_t>(size);
  std::vector<float> ones(elements, 1.0f);
  const std::vector<passnet::Tensor> inputs(model.inputs().size(), passnet::Tensor::of(ones.data(), shape));

  std::printf("%zu inputs, passes at %zu places %s\n", inputs.size(), model.sites(), model.why_not().c_str());
  for (const passnet::Tensor& output : model(inputs)) {
    std::printf("%s", output.dtype.c_str());
    for (size_t i = 0; i < output.count() && i < 4 && output.dtype == "float32"; ++i)
      std::printf(" %g", output.elements<float>()[i]);
    std::printf("\n");
  }
} catch (const std::exception& problem) {
  std::fprintf(stderr, "%s\n", problem.what());
  return 1;
}
